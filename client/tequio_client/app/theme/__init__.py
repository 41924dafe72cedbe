"""How the app looks: colours, sizes, type, icons and the one style sheet made of them."""
