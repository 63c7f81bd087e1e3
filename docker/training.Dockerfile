# The offline half: `nudge-train` with PyTorch for the CPU.  Paths are as in the repository: configs in training/configs,
# runs in runs/, bundles in models/; corpora are in /data.  Compose mounts the last three.
#
# PyTorch's build for the CPU makes an image of 1.5 GB; the one with CUDA, which the default index has, of 5.5 GB.  For the
# former, give pip an index that has it, or a folder of wheels:
#   PIP_EXTRA_INDEX_URL=… docker compose build training
#   docker build -f docker/training.Dockerfile --build-context wheels=FOLDER -t nudge-training .

FROM scratch AS wheels

FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /venv
COPY pyproject.toml ./
ARG PIP_EXTRA_INDEX_URL
RUN --mount=type=bind,from=wheels,target=/wheels \
    python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*project['dependencies'], *project['optional-dependencies']['training'], sep='\n')" > requirements.txt \
    && /venv/bin/pip install --no-cache-dir --find-links /wheels --requirement requirements.txt
COPY README.md LICENSE ./
COPY models/manifest.schema.json models/
COPY service service
COPY training training
RUN /venv/bin/pip install --no-cache-dir --no-deps . && /venv/bin/pip uninstall --yes --quiet pip

FROM python:3.11-slim
COPY --from=build /venv /venv
WORKDIR /nudge
COPY training/configs training/configs
RUN mkdir runs models /data
# Whoever runs it owns what it writes (compose passes the user), so nothing here may depend on a name or a home.
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    USER=nudge \
    DATA=/data
USER 1000:1000
ENTRYPOINT ["nudge-train"]
CMD ["--help"]
