# BPE Explorer's server: docs/operations.md says how to run it.
# Every command is a script in scripts/container/, which tests run too.
FROM python:3.11-slim

WORKDIR /app
COPY requirements/run.txt requirements/
COPY scripts/make_venv.sh scripts/
COPY scripts/container/install.sh scripts/container/
RUN ["scripts/container/install.sh"]

COPY app.py LICENSE NOTICE.md ./
COPY .streamlit/config.toml .streamlit/
COPY scripts/container scripts/container
COPY pages pages
COPY bpe_core bpe_core
COPY bpe_scale bpe_scale
COPY ui ui
RUN ["scripts/container/build.sh"]

# An empty volume takes the owner of this folder.
RUN ["install", "-d", "-o", "10001", "-g", "10001", "-m", "700", "/data"]
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["scripts/container/health.sh"]
CMD ["scripts/container/start.sh"]
