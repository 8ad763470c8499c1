"""What any network is trained with: settings, a run and its folder, devices, first weights, changed images."""
