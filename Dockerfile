# Muppet as a server, for a knowledge base in ./kb:
#   docker build -t muppet .
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" muppet index /data/my_docs --into /data/kb
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" muppet encode /data/kb
#   docker run --rm --user "$(id -u)" -v "$PWD/kb:/kb" -p 127.0.0.1:8321:8321 muppet
# Beyond this machine (-p 8321:8321) give it a token: -e MUPPET_TOKEN=...
# It could not be built where it was written, which has no Docker; its commands are those of the Makefile.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/muppet \
 && /opt/muppet/bin/pip install --no-cache-dir --constraint constraints.txt '.[faiss,serve,mcp]'

FROM python:3.11-slim
COPY --from=build /opt/muppet /opt/muppet
ENV PATH=/opt/muppet/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 10001 muppet
USER muppet
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
ENTRYPOINT ["muppet"]
CMD ["serve", "/kb", "--host", "0.0.0.0", "--port", "8321"]
