"""Languages by code: English names, and the everyday words that give a language away in a text of a word or two."""

# ruff: noqa: SIM905 (lists of words read best as words)

NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer",
    "kn": "Kannada", "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
    "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese", "my": "Burmese",
    "nb": "Norwegian (Bokmål)", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish",
    "ps": "Pashto", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "zh": "Chinese",
    # The private language of the tests and of `training/configs/toy.toml`.
    "xa": "Toy language A", "xb": "Toy language B",
}  # fmt: skip

EVERYDAY_WORDS = {
    "en": frozenset(
        "hello hi hey yes no please thanks thank you goodbye bye morning evening night good bad the a and or but not"
        " is are was were be been have has had do does did will would can could should i you he she it we they me him"
        " her us them my your his our their this that these those what who where when why how which there here from"
        " with for of to in on at by about very much many some any all one two three day time house water friend man"
        " woman child dog cat car book school work go come see know think want like love help welcome sorry".split()
    ),
    "de": frozenset(
        "hallo ja nein bitte danke tschüss guten gute guter morgen abend nacht tag der die das den dem ein eine einen"
        " und oder aber nicht kein keine ist sind war waren sein haben hat hatte bin bist werden wird kann können muss"
        " soll ich du er sie es wir ihr mich mir dich dir uns euch mein meine dein unser dieser diese was wer wo wann"
        " warum wie welche hier dort da von mit für zu im in auf an bei über sehr viel viele alle eins zwei drei zeit"
        " haus wasser freund mann frau kind hund katze auto buch schule arbeit gehen kommen sehen wissen wollen liebe"
        " hilfe willkommen entschuldigung auch nur noch schon".split()
    ),
    "cs": frozenset(
        "ahoj čau ano ne prosím děkuji díky nashledanou dobrý dobré dobrou ráno den večer noc a nebo ale není je jsou"
        " byl byla bylo být mám máš má máme mají měl jsem jsi jsme jste budu bude může musí chci já ty on ona ono my vy"
        " oni mě mi tě ti nás vás můj moje tvůj náš jeho její ten ta to tento tato co kdo kde kdy proč jak který která"
        " tady tam z ze s se pro do v ve na u o velmi moc hodně všechno jeden dva tři čas dům voda přítel muž žena dítě"
        " pes kočka auto kniha škola práce jít vidět vědět láska pomoc vítejte promiňte také jen už že".split()
    ),
    "fi": frozenset(
        "hei moi terve kyllä joo ei kiitos ole hyvä näkemiin huomenta päivää iltaa yötä ja tai mutta on ovat oli olivat"
        " olla olen olet olemme minä sinä hän se me te he minun sinun hänen meidän tämä tuo nämä mikä mitä kuka missä"
        " milloin miksi miten kuinka täällä siellä kanssa varten vain myös vielä jo että jos kun koska hyvin paljon"
        " kaikki yksi kaksi kolme aika talo vesi ystävä mies nainen lapsi koira kissa auto kirja koulu työ mennä tulla"
        " nähdä tietää haluan rakastan apua tervetuloa anteeksi en et emme eivät voi pitää minulla sinulla".split()
    ),
    "ru": frozenset(
        "привет здравствуйте да нет пожалуйста спасибо пока доброе добрый утро день вечер ночь и или но не это есть был"
        " была было быть я ты он она оно мы вы они меня мне тебя тебе его её нас вас мой моя твой наш что кто где когда"
        " почему как какой здесь там от с для в на у о очень много все всё один два три время дом вода друг мужчина"
        " женщина ребёнок собака кошка машина книга школа работа идти видеть знать хочу люблю помощь извините".split()
    ),
    "fr": frozenset(
        "bonjour salut oui non merci au revoir bonsoir le la les un une des et ou mais ne pas est sont je tu il elle"
        " nous vous ils mon ma mes ce cette que qui où quand pourquoi comment avec pour dans sur très beaucoup".split()
    ),
    "es": frozenset(
        "hola sí gracias adiós buenos buenas días tardes noches el los las una y o pero no es son está yo tú él ella"
        " nosotros mi tu su este esta que qué quién dónde cuándo cómo con para por en muy mucho todo".split()
    ),
}  # fmt: skip


def base_code(code: str) -> str:
    """The language of a code with a region or a script: en of EN-US, zh of zh-Hans."""
    return code.strip().lower().partition("-")[0]


def name_of(code: str) -> str:
    """The English name of a language; of a language that has none here, its code."""
    return NAMES.get(code, code)
