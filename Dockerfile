FROM python:3.12-slim AS build

# The server's extras to install, with commas between them: "yue2" brings torch, with CUDA on x86-64, "containers" what
# reads M4A, WebM and video and writes AAC, "kokoro" the model of further voices. The weights of YuE2 are not in the image: they are
# fetched into a volume at /models, which YUE2_MODEL and YUE2_VAE then point into.
ARG EXTRAS=""

WORKDIR /src
RUN python -m venv /opt/yue2-studio
COPY pyproject.toml constraints.txt README.md LICENSE THIRD_PARTY_NOTICES.md ./
COPY server server
COPY engine engine
COPY storage storage
COPY projects projects
RUN /opt/yue2-studio/bin/pip install --no-cache-dir -c constraints.txt ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.12-slim

RUN groupadd --gid 10001 studio \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /output --shell /usr/sbin/nologin studio \
    && install --directory --owner=10001 --group=10001 /output /models
COPY --from=build /opt/yue2-studio /opt/yue2-studio

ENV PATH=/opt/yue2-studio/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    YUE2_HOST=0.0.0.0

USER 10001:10001
WORKDIR /output
VOLUME /output
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('YUE2_PORT', '8000') + '/health', timeout=4).close()"]
ENTRYPOINT ["yue2-studio"]
CMD ["serve"]
