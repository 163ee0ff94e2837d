"""Published tables beside our own figures: `python3 -m bdl_teach reproduce TABLE`."""
