"""Language identification by the package langdetect."""

from langdetect import PROFILES_DIRECTORY, DetectorFactory
from langdetect.lang_detect_exception import LangDetectException

from langfocus.classifiers.languages import canonical
from langfocus.classifiers.pages.method import Ranking, RankingMethod, merged


class LangdetectEngine(RankingMethod):
    """The package with seed 0; 3 to 4 ms for 2,000 characters."""

    name = "langdetect"

    def __init__(self) -> None:
        self._factory = DetectorFactory()
        self._factory.load_profile(PROFILES_DIRECTORY)
        self._factory.seed = 0
        super().__init__(filter(None, map(canonical, self._factory.get_lang_list())))

    def rank(self, text: str) -> Ranking:
        """Return the languages with more than a tenth of langdetect's probability."""
        detector = self._factory.create()
        detector.append(text)
        try:
            guesses = detector.get_probabilities()
        except LangDetectException:
            return []
        return merged((canonical(guess.lang), float(guess.prob)) for guess in guesses)
