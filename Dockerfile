# The image of every service of Engine: one Python, the locked packages, the wheel. Build: docker build -t engine .
#
# `python charts/image.py` runs the steps of the first stage where there is no container engine; tests read this file.

ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements.lock requirements-dev.lock ./
RUN python -m venv --without-pip /opt/engine \
 && pip --python /opt/engine/bin/python install --quiet --no-compile --only-binary :all: --require-hashes -r requirements.lock
# What builds the wheel, by the hashes of the development packages' lock.
RUN awk '/^[a-z]/ {keep = $1 ~ /^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/} keep' requirements-dev.lock > build.lock \
 && pip install --quiet --only-binary :all: --require-hashes -r build.lock
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY rules rules
COPY schemas schemas
COPY tests/machines/walkthrough tests/machines/walkthrough
RUN pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . \
 && pip --python /opt/engine/bin/python install --quiet --no-compile --no-deps --no-index dist/engine_accelerators-*.whl
# Compiled here once: the file system is read-only later. By hash and unchecked, so no time of a file is in the image.
RUN /opt/engine/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/engine/lib

FROM ${BASE}
LABEL org.opencontainers.image.title=engine \
      org.opencontainers.image.licenses=Apache-2.0
COPY --from=build /opt/engine /opt/engine
ENV PATH=/opt/engine/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp
WORKDIR /tmp
USER 65532:65532
ENTRYPOINT ["engine"]
CMD ["--help"]
