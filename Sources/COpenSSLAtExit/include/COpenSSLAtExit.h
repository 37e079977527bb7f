// The module declares no function. Linking the module is sufficient.
