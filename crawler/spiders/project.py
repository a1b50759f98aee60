"""The settings of a command: those of langfocus, overridden by those of a Scrapy project."""

import os
import sys
from importlib import import_module
from pathlib import Path

from scrapy.settings import Settings
from scrapy.utils.conf import closest_scrapy_cfg, get_config

from crawler.errors import SettingError

_OURS = "crawler.settings"
_VARIABLE = "SCRAPY_SETTINGS_MODULE"
_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS")


def load_settings() -> Settings:
    """Return the settings for commands in the working folder.

    A settings module named by SCRAPY_SETTINGS_MODULE, or else by the nearest `scrapy.cfg` in this
    folder or above, overrides the settings that it names. Its spiders, middlewares and extensions
    are added to ours. Raises `SettingError` if the module cannot be imported.
    """
    settings = Settings()
    settings.setmodule(_OURS, priority="project")
    name = _module_of_project()
    if name not in (None, _OURS):
        _override(settings, name)
    return settings


def _module_of_project() -> str | None:
    """Return the settings module of the Scrapy project here, and make it importable."""
    config = closest_scrapy_cfg()
    folder = str(Path(config).parent)
    if config and folder not in sys.path:
        sys.path.append(folder)
    if name := os.environ.get(_VARIABLE):
        return name
    project = os.environ.get("SCRAPY_PROJECT", "default")
    return get_config().get("settings", project, fallback=None)


def _override(settings: Settings, name: str) -> None:
    ours = {component: settings.getdict(component) for component in _COMPONENTS}
    spiders = settings.getlist("SPIDER_MODULES")
    try:
        settings.setmodule(import_module(name), priority="project")
    except ImportError as error:
        raise SettingError(f"the settings module {name} cannot be imported: {error}") from error
    for component, members in ours.items():
        both = {**members, **settings.getdict(component)}
        settings.set(component, both, priority="project")
    modules = dict.fromkeys([*spiders, *settings.getlist("SPIDER_MODULES")])
    settings.set("SPIDER_MODULES", list(modules), priority="project")
