"""What a real arm needs before skills move it."""

NO_CAMERA_PLACE = (
    "a real arm is not moved by skills without a calibrated camera: measure its place with 'kc-vla calibrate "
    "hand-eye', and name the file as hand_eye in the file of cameras:="
)
