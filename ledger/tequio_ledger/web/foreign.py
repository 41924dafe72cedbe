"""Headers of answers whose bytes are not ours: what a browser must not make of them.

They come from the same address as the pages. So a browser takes them for what their type says,
saves them instead of showing them, and if it shows them all the same, nothing in them runs.
"""

SECURITY = {
    "x-content-type-options": "nosniff",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
}
