"""Pictures that the network has never seen: three kinds of network, and a temperature."""
