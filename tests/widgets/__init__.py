"""A package, so that a test file may have its module's name as well as a method's test has it."""
