"""The commands of the project, one module each. A module has the name of its command.

`scrapy` imports all of them for every command, so heavy packages are imported in functions.
"""
