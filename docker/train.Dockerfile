# Training on an NVIDIA GPU: docker compose --profile train run --rm train kc-vla train policy --data data/plans/train
# No CUDA image: the wheels of torch and ONNX Runtime bring CUDA, and the container toolkit the driver.
FROM ubuntu:24.04

# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility

WORKDIR /opt/kc_vla
# The lock files before the code: an image is made anew from here on where the code alone has changed.
COPY setup.sh env.sh ./
COPY setup setup
COPY requirements requirements
RUN ./setup.sh --gpu --packages && rm -rf /var/lib/apt/lists/* /root/.cache

COPY . .
# The image has a user with the number 1000 already.
RUN ./setup.sh --no-system && usermod --login robot --home /home/robot --move-home ubuntu

USER 1000
WORKDIR /home/robot
ENTRYPOINT ["/opt/kc_vla/docker/entrypoint.sh"]
CMD ["kc-vla", "doctor"]
