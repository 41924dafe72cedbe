"""The content-addressed store on disk: `store` over `trees`, `index` and `files`."""
