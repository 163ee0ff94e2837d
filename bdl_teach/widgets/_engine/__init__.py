"""What every explorer is made of: controls, one worker, a canvas, a question, NUTS beside it."""
