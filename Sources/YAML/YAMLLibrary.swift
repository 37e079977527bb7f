import CYAML

/// What this process has loaded of libyaml.
public enum YAMLLibrary {
    public static var version: String { yaml_get_version_string().map { String(cString: $0) } ?? "-" }
}
