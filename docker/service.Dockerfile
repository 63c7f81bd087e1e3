# The online half.  Two targets:
#   service   (default) expects the bundles in /models, where compose mounts them
#   shipped             has the bundles of models/ baked in, for a host without the repository:
#                       docker build -f docker/service.Dockerfile --target shipped -t nudge:shipped .
#                       and with --build-context bundles=FOLDER, those of another folder

FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /venv
# Dependencies change seldom and have a layer of their own.  A third of it would be what only authors of models, compilers
# and test runners need: onnxruntime's tools and its library for C programs, sources, headers and stubs, tests.
COPY pyproject.toml ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
      > requirements.txt \
    && /venv/bin/pip install --no-cache-dir --requirement requirements.txt \
    && cd /venv/lib/python3.11/site-packages \
    && rm -r onnxruntime/capi/libonnxruntime.so.* onnxruntime/transformers onnxruntime/tools onnxruntime/quantization \
             onnxruntime/datasets onnxruntime/backend numpy/f2py \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.c' \) -delete
# Without training/: the wheel then holds the service alone.
COPY README.md LICENSE ./
COPY models/manifest.schema.json models/
COPY service service
RUN /venv/bin/pip install --no-cache-dir --no-deps . \
    && rm -r /venv/lib/python3.11/site-packages/training /venv/bin/nudge-train \
    && /venv/bin/pip uninstall --yes --quiet setuptools pip

FROM python:3.11-slim AS service
# /state is the one place to write: API keys and their usage.  A new volume inherits its owner.
RUN groupadd --gid 10001 nudge \
    && useradd --uid 10001 --gid nudge --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin nudge \
    && mkdir /models /state \
    && chown nudge:nudge /state
COPY --from=build /venv /venv
COPY docker/ready.py /usr/local/lib/nudge/ready.py
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    NUDGE_HOST=0.0.0.0 \
    NUDGE_PORT=8000 \
    NUDGE_MODELS=/models
USER 10001:10001
WORKDIR /state
EXPOSE 8000
# Healthy means ready: the models are loaded and have replayed their golden examples.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 CMD ["python", "/usr/local/lib/nudge/ready.py"]
# The process itself takes SIGTERM, and finishes running requests.
CMD ["nudge", "serve"]

FROM scratch AS bundles
COPY models /

FROM service AS shipped
COPY --from=bundles / /models

FROM service
