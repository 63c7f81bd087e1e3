"""Twenty everyday sentences for each direction, written for this test, with words of which a right answer has one;
words and phrases as people type them alone; and names that are in no corpus.

A word stands for its family (`teach` for teacher and teaches); alternatives are separated by bars.
"""

EVERYDAY = {
    "de-en": [
        ("Mein Bruder hat gestern sein neues Fahrrad im Regen stehen lassen.", "brother", "bicycle|bike", "rain"),
        ("Kannst du mir bitte sagen, wo der nächste Bahnhof ist?", "tell|say", "station"),
        ("Wir essen heute Abend um 19 Uhr bei meiner Tante.", "eat|dinner|dining", "19|7|seven", "aunt"),
        ("Die Katze schläft schon den ganzen Tag auf dem Sofa.", "cat", "sleep|slept|asleep", "sofa|couch"),
        ("Ich habe leider vergessen, die Milch zu kaufen.", "forg", "milk", "buy"),
        ("Morgen früh muss ich um sechs Uhr aufstehen.", "tomorrow", "six|6", "get up|wake|rise|stand"),
        ("Das Wetter war im Urlaub leider sehr schlecht.", "weather", "bad|poor"),
        ("Meine Schwester lernt seit drei Jahren Spanisch.", "sister", "three|3", "spanish"),
        ("Warum bist du gestern nicht zur Schule gegangen?", "why", "school"),
        ("Der Bus kommt heute zehn Minuten später.", "bus", "ten|10", "minutes"),
        ("Ich trinke meinen Kaffee am liebsten ohne Zucker.", "coffee", "sugar", "without|no"),
        ("Sie hat das ganze Buch an einem Wochenende gelesen.", "she", "book", "week"),
        ("Unser Nachbar hat einen sehr großen Hund.", "neighb", "dog", "big|large|great|huge"),
        ("Das Fenster in der Küche ist kaputt.", "window", "kitchen", "broken|broke"),
        ("Kommst du am Samstag mit ins Kino?", "saturday", "cinema|movie|film|theater"),
        ("Ich glaube, dass er die Wahrheit sagt.", "believe|think", "truth|true"),
        ("Der Arzt sagt, ich soll mehr Wasser trinken.", "doctor|physician", "water", "drink"),
        ("Sie wohnen in einem kleinen Haus am Meer.", "live|reside", "house", "sea|ocean"),
        ("Er hat seinen Schlüssel im Auto liegen lassen.", "key", "car"),
        ("Danke für deine Hilfe, das war sehr nett von dir.", "thank", "help", "nice|kind"),
    ],
    "en-de": [
        ("My brother left his new bicycle out in the rain yesterday.", "bruder", "rad", "regen"),
        ("Could you please tell me where the nearest station is?", "sagen", "bahnhof|station"),
        ("We are having dinner at my aunt's house at seven tonight.", "abend|essen", "tante", "sieben|7"),
        ("The cat has been sleeping on the sofa all day.", "katze", "schl", "sofa|couch"),
        ("Unfortunately I forgot to buy the milk.", "leider|unglücklicherweise", "verg", "milch"),
        ("Tomorrow morning I have to get up at six.", "morgen", "sechs|6", "auf"),
        ("The weather was very bad during the holidays.", "wetter", "schlecht|übel|schlimm"),
        ("My sister has been learning Spanish for three years.", "schwester", "drei|3", "spanisch"),
        ("Why didn't you go to school yesterday?", "warum|weshalb|wieso", "schule", "gestern"),
        ("The bus is ten minutes late today.", "bus", "zehn|10", "minuten"),
        ("I like to drink my coffee without sugar.", "kaffee", "zucker", "ohne"),
        ("She read the whole book in one weekend.", "sie", "buch", "woche"),
        ("Our neighbour has a very big dog.", "nachbar", "hund", "groß"),
        ("The window in the kitchen is broken.", "fenster", "küche", "kaputt|broch|defekt"),
        ("Are you coming to the cinema with us on Saturday?", "samstag|sonnabend", "kino|film"),
        ("I believe that he is telling the truth.", "glaub|denke", "wahrheit"),
        ("The doctor says I should drink more water.", "arzt|doktor", "wasser", "trink"),
        ("They live in a small house by the sea.", "leb|wohn", "haus", "meer|see"),
        ("He left his keys in the car.", "schlüssel", "auto|wagen"),
        ("Thank you for your help, that was very kind of you.", "dank", "hilfe|half", "nett|freundlich|lieb"),
    ],
}

# Words as people type them, alone and without a mark, each with what they may become.
LONE_WORDS: dict[str, dict[str, str]] = {
    "de-en": {
        "Hund": "dog", "Katze": "cat", "Haus": "house|home", "Wasser": "water", "Käse": "cheese", "Brot": "bread",
        "Apfel": "apple", "Schule": "school", "Montag": "monday", "Freund": "friend|boyfriend", "Buch": "book",
        "Stadt": "city|town", "Winter": "winter", "Fenster": "window|windows", "Auto": "car", "Arbeit": "work|job",
        "rot": "red", "schnell": "fast|quick|quickly|rapid|rapidly", "glücklich": "happy|lucky", "alt": "old",
        "heute": "today", "immer": "always", "vielleicht": "maybe|perhaps", "trinken": "drink|to drink|drinking",
    },
    "en-de": {
        "dog": "hund", "cat": "katze", "house": "haus", "water": "wasser", "cheese": "käse", "bread": "brot",
        "apple": "apfel", "school": "schule", "Monday": "montag", "friend": "freund|freundin", "book": "buch",
        "city": "stadt", "winter": "winter", "window": "fenster", "car": "auto|wagen", "work": "arbeit|arbeiten",
        "red": "rot(e[nrs]?)?", "fast": "schnell|schneller", "happy": "glücklich|fröhlich", "today": "heute",
        "old": "alt(e[nrs]?)?", "always": "immer|stets", "maybe": "vielleicht", "drink": "trinken|getränk",
    },
}  # fmt: skip

# What people type most: all of it is in the phrasebook that the models learn from.
PHRASES: dict[str, dict[str, str]] = {
    "de-en": {
        "Hallo": "hello|hi", "hallo": "hello|hi", "Nein": "no", "Danke": "thanks|thank you", "Gute Nacht": "good night",
        "Tschüss": "bye|goodbye", "Bis morgen": "see you tomorrow", "Wie geht's?": "how are you\\?", "Hilfe": "help",
        "Alles Gute zum Geburtstag": "happy birthday", "Prost": "cheers", "Guten Appetit": "enjoy your meal",
        "München": "munich", "Wien": "vienna", "Frankreich": "france", "Gute Besserung": "get well soon",
    },
    "en-de": {
        "Hello": "hallo", "hi": "hallo", "No": "nein", "Thanks": "danke", "Good night": "gute nacht", "Bye": "tschüss",
        "See you tomorrow": "bis morgen", "How are you?": "wie geht es (dir|ihnen)\\?", "Help": "hilfe",
        "Happy birthday": "alles gute zum geburtstag", "Cheers": "prost", "Enjoy your meal": "guten appetit",
        "Munich": "münchen", "Vienna": "wien", "France": "frankreich", "Get well soon": "gute besserung",
    },
}  # fmt: skip

# No training text has any of these.
NAMES = [
    "Brunnhuber", "Lindqvist", "Okonkwo", "Petersson", "Katarzyna", "Rodrigues", "Schwarzkopf", "Nakamura", "Yildiz",
    "Hoffmann", "Kowalski", "Anjali", "Henriksen", "Castellano", "Jovana", "Ullmann", "Winkelmann", "Ravindra",
]  # fmt: skip
FRAMES = {
    "de": ["{} hat mich gestern angerufen.", "Ich habe {} im Supermarkt getroffen.", "Frau {} wohnt in Bremen."],
    "en": ["{} called me yesterday.", "I met {} at the supermarket.", "Mrs {} lives in Bremen."],
}

# Towns that the texts have rarely or never.
TOWNS = ["Sheffield", "Wuppertal", "Darlington", "Ljubljana", "Bratislava", "Rosenheim", "Lüdenscheid", "Grimsby"]
TOWN_FRAMES = {
    "de": ["Gestern waren wir in {}.", "Der Zug nach {} fährt um neun."],
    "en": ["Yesterday we were in {}.", "The train to {} leaves at nine."],
}
