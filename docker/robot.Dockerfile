# The stack beside a real robot, on ROS 2 Jazzy itself: docker compose --profile robot up robot
FROM ros:jazzy-ros-base

# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends can-utils python3-dev python3-venv v4l-utils \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/kc_vla
# The lock files before the code: an image is made anew from here on where the code alone has changed.
COPY setup.sh env.sh ./
COPY setup setup
COPY requirements requirements
RUN ./setup.sh --packages && rm -rf /var/lib/apt/lists/* /root/.cache

COPY . .
# The image has a user with the number 1000 already, who becomes the robot's: cameras and adapters belong to groups.
RUN ./setup.sh --no-system \
 && usermod --login robot --home /home/robot --move-home ubuntu \
 && usermod --append --groups video,dialout robot

USER 1000
WORKDIR /home/robot
ENTRYPOINT ["/opt/kc_vla/docker/entrypoint.sh"]
CMD ["ros2", "launch", "kc_vla", "piper.launch.py"]
