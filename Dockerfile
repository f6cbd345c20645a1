# esdedup in a container, run by a user without rights. /data is the folder for sources and results.
#
#   docker build -t esdedup .
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" esdedup run texts.jsonl --out found
#   docker run --rm -v "$PWD:/data" -p 127.0.0.1:8765:8765 -e ESDEDUP_SERVE_TOKEN esdedup \
#     serve --store found/store.duckdb --host 0.0.0.0

FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY locks/build.txt locks/run.txt locks/
RUN python -m venv /opt/build \
    && /opt/build/bin/python -m pip install --no-cache-dir --require-hashes -r locks/build.txt \
    && python -m venv /opt/esdedup \
    && /opt/esdedup/bin/python -m pip install --no-cache-dir --require-hashes -r locks/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY locks/node.txt locks/
COPY mappings mappings
COPY esdedup esdedup
RUN /opt/build/bin/python -m hatchling build -t wheel -d /wheels \
    && /opt/esdedup/bin/python -m pip install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM python:3.13-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin esdedup \
    && install --directory --owner esdedup --group esdedup /data
COPY --from=build /opt/esdedup /opt/esdedup
# compiled kernels are kept in the home, which every --user can write to
ENV PATH=/opt/esdedup/bin:$PATH HOME=/tmp
USER 10001:10001
WORKDIR /data
EXPOSE 8765
ENTRYPOINT ["esdedup"]
CMD ["--help"]
