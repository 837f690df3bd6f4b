"""The app's custom components: a typed wrapper with its html, css and js beside it."""
