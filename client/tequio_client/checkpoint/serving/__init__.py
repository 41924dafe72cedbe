"""The newest head of a run over HTTP, for visitors of a page and for programs.

`connections` reads one request and sends one answer per connection; `openai` is the language of
the answers; `host` has the model, its queue and its head; `service` joins them, with a page.
"""
