"""Commands called as functions of this process: half a second less than a process of their own."""

from langfocus.command_line import main


def call(*arguments: object) -> int:
    """The exit code of a command, in the folder and the environment of the test."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as ended:  # of --help
        return int(ended.code or 0)
