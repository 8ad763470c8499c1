"""What can go wrong in the simulation, one type per cause, each with one line that says what to do."""


class SimulationError(Exception):
    """Base of every error that this package raises on purpose."""


class RendererError(SimulationError):
    """No usable Vulkan driver, or an unknown renderer was asked for."""


class MeshCacheError(SimulationError):
    """The light robot meshes cannot be stored in the user's cache folder."""


class RobotMeshError(SimulationError):
    """The meshes of a robot cannot be fetched or stored."""


class BadSeedError(SimulationError, ValueError):
    """A seed that is not a whole number in 0..2**32-1."""


class UnplayedTaskError(SimulationError, ValueError):
    """A task of the task table that this simulator does not play."""


class BadTaskError(SimulationError):
    """A task whose environment or expert is not there, or tells what the task table does not know."""


class BadVariantError(SimulationError, ValueError):
    """A variant that no task has."""


class BadLooksError(SimulationError, ValueError):
    """Looks that no task has, or that do not go with other options of the environment."""


class AssetsError(SimulationError):
    """Meshes of a set of assets that are not installed, not as they were expected, or cannot be stored."""


class BadAssetsError(SimulationError, ValueError):
    """Assets that there are not, or that a task does not have."""


class BadImageSizeError(SimulationError, ValueError):
    """An image size that is not one or two whole numbers above 0."""


class BadExecutionError(SimulationError, ValueError):
    """A way of executing chunks for which they have too few actions."""


class BadActionError(SimulationError, ValueError):
    """A command of the wrong length, or one that is not finite."""


class EpisodeOverError(SimulationError):
    """A step was asked for before the first reset or after the end of the episode."""
