"""Commands of pages that tests of the documentation do not run: which test does, or why none can.

Each row has a pattern of the commands' names, `page: command`, and a test, or a reason in words.
Every other command is run by `test_quickstarts.py`, `test_a_competition.py` or `test_a_group.py`.
"""

from __future__ import annotations

ROOT_ELSEWHERE = "needs root and systemd on a server"
CONTAINERS = "needs Docker"
CLUSTER = "needs a cluster with Kubernetes; tests/whole/test_chart.py runs what it would start"
PACKAGES = "needs the packages that make package takes minutes to build"
WHOLE_CHECKOUT = "a part of what runs this test, on a whole checkout"
HUB = "needs the Hugging Face Hub"
BIG_MODEL = "as the organiser's first page does it, with a model too large for a test"

ELSEWHERE = (
    # --- networks and volunteers
    (r"README: make (demo|test)", WHOLE_CHECKOUT),
    (r"(README|developer): (\.venv/bin/)?tequio demo", "tests/whole/test_demo.py"),
    (r"README: \.venv/bin/tequio app", "tests/whole/test_desktop_tour.py"),
    (r"developer: (make|export)", WHOLE_CHECKOUT),
    (r"developer: tequio --version", "tests/client/test_cli.py"),
    (r"languages: make", WHOLE_CHECKOUT),
    (r"cells: (tequio worker|RANK|export|torchrun)", "tests/client/worker/test_rank.py"),
    (r"cells: tequio cell", "tests/whole/test_a_lan_party.py"),
    (r"cells: tequio run (list|show)", "tests/client/organiser/test_opening.py"),
    (r"cells: srun", "needs a cluster with Slurm"),
    (r"http-api: curl https", "tests/ledger/web/test_read_api.py"),
    # --- installing
    (r"install-from-source: installer/install\.sh client", "tests/test_installer.py"),
    (r"install-from-source: (uv|pipx)", "needs a package registry"),
    (r"install-from-source: docker", CONTAINERS),
    (r"install: (sudo dnf|sudo apt|tar|tequio-VERSION)", "tests/package/test_linux_packages.py"),
    (r"install: ~/\.local", "tests/package/test_first_minute.py"),
    (r"releasing: tequio seed", "tests/client/releases/test_chunk_sources.py"),
    # --- organising
    (r"organising: tequio run open", BIG_MODEL),
    (r"organising: tequio seed", "as the organiser's first page does it, at another address"),
    (r"organising: tequio data build \S+ .*(--tokenizer|--dataset) HuggingFaceTB", HUB),
    (
        r"organising: tequio run (new|check) (more|pairs|whole)",
        "tests/client/organiser/test_starting_weights.py",
    ),
    (r"organising: tequio run (new|check) evening", "tests/whole/test_a_fork.py"),
    (r"organising: tequio checkpoint", "tests/client/checkpoint/test_adapters.py"),
    (
        r"organising: tequio simulate maize\.toml --peers 1000",
        "tests/client/simulator/test_cli.py",
    ),
    (r"organising: tequio run (rollback|pause maize$)", "tests/whole/test_a_rollback.py"),
    (r"organising: tequio run watch", "tests/client/organiser/test_watch.py"),
    (r"organising: tequio announce", "tests/client/ledger/test_announcement.py"),
    (r"organising: tequio release announce", "tests/client/releases/test_log_check.py"),
    (r"plugins: tequio (plugin|data build)", "tests/whole/test_plugins.py"),
    # --- scoring and competitions
    (r"scoring: tequio score gpt2", HUB),
    (r"scoring: tequio checkpoint export", "tests/client/checkpoint/test_export.py"),
    (r"scoring: tequio data tasks tasks arc_easy", HUB),
    (r"scoring: (python3|\.venv|lm-eval)", "needs a package registry"),
    (r"entrant: tequio competition demo", "takes six minutes: make competition"),
    (
        r"verifying-competitions: .*--trust",
        "tests/client/verify/test_verify_competition.py"
        "::test_a_policy_whose_witnesses_are_missing_makes_it_incomplete",
    ),
    # --- operating
    (
        r"operating: (systemctl|systemd|install |journalctl|mv |chown|as_ledger|\}|umask|cp |echo)",
        f"{ROOT_ELSEWHERE}; what runs there: tests/ledger/admin/test_backup_drills.py",
    ),
    (r"operating: (/opt|installer/install)", "tests/test_installer.py"),
    (r"operating: (docker|for image|digest|printf|done)", CONTAINERS),
    (r"operating: make|operating: TEQUIO_RUNTIME", PACKAGES),
    (r"kubernetes: docker", CONTAINERS),
    (r"kubernetes: (helm|kubectl|umask|for file|done)", CLUSTER),
    (r"kubernetes: pg_dump", "tests/ledger/admin/test_backup_dumped_database.py"),
    (r"operating: (pg_dump|pg_restore)", "tests/ledger/admin/test_backup_dumped_database.py"),
    (r"operating: tequio run key", "tests/test_installer.py"),
    (r"operating: tequio network add", "tests/client/ledger/test_networks.py"),
    (r"operating: tequio-ledger serve", "tests/ledger/signing/test_signer.py"),
    (r"operating: tequio (seed|worker)", "tests/whole/test_points.py"),
    (r"operating: tequio checkpoint export", "tests/client/checkpoint/test_export.py"),
    (r"operating: tequio checkpoint verify", "tests/client/checkpoint/test_verify.py"),
    (r"operating: tequio checkpoint (token|publish)", "tests/client/checkpoint/test_publish.py"),
    (r"operating: HF_TOKEN", "tests/client/checkpoint/test_publish_follow.py"),
    (r"operating: export AWS", "tests/client/checkpoint/test_bucket.py"),
    (r"operating: tequio checkpoint download", "tests/client/checkpoint/test_download.py"),
    (r"operating: tequio chat", "tests/client/checkpoint/test_talk.py"),
    (r"operating: tequio checkpoint serve", "tests/client/checkpoint/serving/test_program.py"),
    (r"organising: tequio run chat", "tests/client/organiser/test_rollback.py"),
    (r"operating: (llama-cli|ollama)", "needs llama.cpp or Ollama"),
    (
        r"operating: tequio competition (seal held-out|unseal)",
        "tests/client/organiser/test_sealing.py::test_the_commands_seal_and_open_json_lines",
    ),
    (r"operating: tequio-ledger witness", "tests/ledger/witness/test_witness.py"),
    (r"operating: tequio-ledger sign", "tests/ledger/signing/test_signer.py"),
    (
        r"operating: tequio-ledger monitor",
        "as the operator's first page does it, on another computer",
    ),
    (r"operating: tequio invite", "tests/client/organiser/test_invitations.py"),
    (
        r"operating: tequio withdraw-name",
        "tests/client/organiser/test_quarantine.py"
        "::test_organisers_withdraw_a_name_which_pages_then_no_longer_show",
    ),
    (r"operating: tequio-ledger connect", "tests/ledger/connector/test_connector.py"),
    (r"operating: curl --data-binary @note", "tests/ledger/witness/test_witness.py"),
)
