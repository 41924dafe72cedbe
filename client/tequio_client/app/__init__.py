"""The app: tray icon and window; starts, stops and watches the worker."""
