"""Name the Vulkan device that the simulator can render with, or say why there is none.

Standard library only, so that `setup.sh --check` can ask before anything is installed. The requirement is that of
SAPIEN's renderer: Vulkan 1.2 with partially bound descriptors, which Mesa's software driver has since 23.1.
"""

import ctypes
import os
import sys

_VULKAN_1_2 = (1 << 22) | (2 << 12)
_TYPE_INSTANCE_CREATE_INFO = 1
_TYPE_APPLICATION_INFO = 0
_TYPE_PHYSICAL_DEVICE_FEATURES_2 = 1000059000
_TYPE_DESCRIPTOR_INDEXING_FEATURES = 1000161001
_PARTIALLY_BOUND_INDEX = 17
"""Position of descriptorBindingPartiallyBound among the 20 flags of VkPhysicalDeviceDescriptorIndexingFeatures."""


class _ApplicationInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("application_name", ctypes.c_char_p),
        ("application_version", ctypes.c_uint32),
        ("engine_name", ctypes.c_char_p),
        ("engine_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    ]


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application_info", ctypes.POINTER(_ApplicationInfo)),
        ("layer_count", ctypes.c_uint32),
        ("layer_names", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extension_names", ctypes.c_void_p),
    ]


class _DeviceProperties(ctypes.Structure):
    _fields_ = [
        ("api_version", ctypes.c_uint32),
        ("driver_version", ctypes.c_uint32),
        ("vendor_id", ctypes.c_uint32),
        ("device_id", ctypes.c_uint32),
        ("device_type", ctypes.c_int),
        ("device_name", ctypes.c_char * 256),
        # pipelineCacheUUID, limits and sparseProperties: 548 bytes on 64-bit machines, with room to spare.
        ("rest", ctypes.c_ubyte * 1024),
    ]


class _DescriptorIndexingFeatures(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32 * 20)]


class _DeviceFeatures2(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("next", ctypes.c_void_p), ("features", ctypes.c_uint32 * 55)]


class VulkanUnusableError(RuntimeError):
    """There is no Vulkan device that the simulator could use; the message says why."""


def _devices(vulkan: ctypes.CDLL) -> list[ctypes.c_void_p]:
    application = _ApplicationInfo(type=_TYPE_APPLICATION_INFO, api_version=_VULKAN_1_2)
    create_info = _InstanceCreateInfo(type=_TYPE_INSTANCE_CREATE_INFO, application_info=ctypes.pointer(application))
    instance = ctypes.c_void_p()
    if vulkan.vkCreateInstance(ctypes.byref(create_info), None, ctypes.byref(instance)) != 0:
        raise VulkanUnusableError("no Vulkan driver is installed")
    count = ctypes.c_uint32()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
    handles = (ctypes.c_void_p * count.value)()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
    return [ctypes.c_void_p(handle) for handle in handles]


def usable_device() -> str:
    """Return the name of the first Vulkan device that the simulator can use.

    Raises:
        VulkanUnusableError: no loader, no driver, no device, or only devices that lack the needed feature.
    """
    try:
        vulkan = ctypes.CDLL("libvulkan.so.1")
    except OSError as error:
        raise VulkanUnusableError("the Vulkan loader libvulkan.so.1 is not installed") from error
    refused = []
    for device in _devices(vulkan):
        properties = _DeviceProperties()
        vulkan.vkGetPhysicalDeviceProperties(device, ctypes.byref(properties))
        indexing = _DescriptorIndexingFeatures(type=_TYPE_DESCRIPTOR_INDEXING_FEATURES)
        features = _DeviceFeatures2(type=_TYPE_PHYSICAL_DEVICE_FEATURES_2, next=ctypes.addressof(indexing))
        if properties.api_version >= _VULKAN_1_2:
            vulkan.vkGetPhysicalDeviceFeatures2(device, ctypes.byref(features))
        name: str = properties.device_name.decode()
        if indexing.flags[_PARTIALLY_BOUND_INDEX]:
            return name
        refused.append(name)
    if refused:
        raise VulkanUnusableError(f"too old for the simulator: {', '.join(refused)} (Mesa 23.1 or newer is needed)")
    raise VulkanUnusableError("no Vulkan device")


def main() -> int:
    """Print the device (exit 0) or the reason (exit 1)."""
    # The loader's warnings about drivers of absent hardware would hide the one line that matters.
    os.environ.setdefault("VK_LOADER_DEBUG", "none")
    try:
        print(usable_device())
    except VulkanUnusableError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
