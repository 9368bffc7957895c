# The server over HTTP. Build it from a checkout: docker build -t searx-mcp .
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE instances.json ./
COPY searx_mcp searx_mcp
RUN python -m venv /opt/searx-mcp \
    && /opt/searx-mcp/bin/pip install --no-cache-dir ".[metrics,otel,pdf,postgres,redis]"

FROM python:3.13-slim
COPY --from=build /opt/searx-mcp /opt/searx-mcp
RUN useradd --system --uid 10001 --no-create-home --home-dir /data searx \
    && install -d -o searx -m 0700 /data
ENV PATH=/opt/searx-mcp/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    MCP_TRANSPORT=streamable-http \
    MCP_HOST=0.0.0.0 \
    MCP_PORT=8765 \
    DATA_DIR=/data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
# Not with urllib, which would ask the proxy of the environment.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-c", \
    "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['MCP_PORT']), timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["searx-mcp"]
CMD ["serve"]
