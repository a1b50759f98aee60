"""The commands of the project, one module each. A module has the name of its command.

Heavy packages are imported in functions, so that help and errors are quick.
"""
