# The load test: locust and the traffic of tests/load, without the service.

FROM python:3.11-slim AS build
RUN python -m venv /venv
COPY pyproject.toml ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['load'], sep='\n')" \
      > requirements.txt \
    && /venv/bin/pip install --no-cache-dir --requirement requirements.txt \
    && /venv/bin/pip uninstall --yes --quiet setuptools pip

FROM python:3.11-slim
RUN groupadd --gid 10001 nudge \
    && useradd --uid 10001 --gid nudge --no-create-home --home-dir /tmp --shell /usr/sbin/nologin nudge \
    && mkdir /reports \
    && chown nudge:nudge /reports
COPY --from=build /venv /venv
COPY tests/load /load
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /load
ENTRYPOINT ["locust", "--locustfile", "/load/locustfile.py", "--headless", "--html", "/reports/report.html"]
# The rest by options, or by locust's variables: LOCUST_HOST, LOCUST_USERS, LOCUST_RUN_TIME, …
CMD ["--only-summary"]
