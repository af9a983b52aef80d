# Images of qfs-bench on Debian 12:
#   docker build --target driver -t qfs-bench .   scores, reports, gates, methods without a model; no LibTorch
#   docker build -t qfs-bench-full .              with models, on CPUs
# A sweep's folder is mounted at /work, downloads (models, data sets) lie in /cache.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS source
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates dpkg-dev file git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .

FROM source AS driver-build
RUN ./bootstrap.sh driver && cpack -G DEB --config build/driver/CPackConfig.cmake -B /package

FROM source AS host-build
ENV QFS_CACHE_DIR=/torch QFS_TORCH_KIND=cpu
RUN ./bootstrap.sh packages && ./bootstrap.sh torch | tee /torch-steps && tail -n 1 /torch-steps >/torch-folder && test -d "$(cat /torch-folder)"
RUN cmake --preset release -DQFS_TESTS=OFF -DQFS_TORCH=ON "-DQFS_TORCH_DIR=$(cat /torch-folder)" \
  && cmake --build --preset release --target qfs-host
# LibTorch keeps its place; of its libraries what the program loads.
RUN DESTDIR=/image cmake --install build/release --prefix /usr --component host --strip \
  && ldd build/release/bin/qfs-host | awk '$3 ~ "^/torch/" {print $3}' | xargs cp --parents --dereference --target-directory=/image

FROM ${BASE} AS driver
COPY --from=driver-build /package/*.deb /package/
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3-minimal /package/*.deb \
  && rm -rf /package /var/lib/apt/lists/*
ENV QFS_CACHE_DIR=/cache
WORKDIR /work
ENTRYPOINT ["qfs-bench"]

FROM driver AS full
COPY --from=host-build /image /
