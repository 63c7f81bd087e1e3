# The offline half: `nudge-train` with PyTorch for the CPU.  Paths are as in the repository: configs in training/configs,
# runs in runs/, bundles in models/; corpora are in /data.  Compose mounts the last three.

FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /venv
COPY pyproject.toml ./
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*project['dependencies'], *project['optional-dependencies']['training'], sep='\n')" > requirements.txt \
    && /venv/bin/pip install --no-cache-dir --requirement requirements.txt
COPY README.md LICENSE ./
COPY models/manifest.schema.json models/
COPY service service
COPY training training
RUN /venv/bin/pip install --no-cache-dir --no-deps . && /venv/bin/pip uninstall --yes --quiet setuptools pip

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
