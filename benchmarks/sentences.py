"""A sentence in three languages, of which pages are made."""

SENTENCES = {
    "de": "Am Abend gingen wir gemeinsam durch die stillen Gassen der alten Stadt nach Hause.",
    "en": "In the evening we walked home together through the quiet streets of the old town.",
    "fr": "Le soir nous sommes rentrés ensemble par les ruelles calmes de la vieille ville.",
}
