"""The policy of the kc_vla stack in LeRobot: `lerobot-record --policy.type=kc_vla ...`."""

from lerobot_policy_kc_vla.configuration_kc_vla import KcVlaConfig
from lerobot_policy_kc_vla.modeling_kc_vla import KcVlaPolicy
from lerobot_policy_kc_vla.processor_kc_vla import make_kc_vla_pre_post_processors

__all__ = ["KcVlaConfig", "KcVlaPolicy", "make_kc_vla_pre_post_processors"]
