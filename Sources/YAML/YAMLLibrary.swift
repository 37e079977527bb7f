import CYAML

/// The loaded libyaml library.
public enum YAMLLibrary {
    public static var version: String { yaml_get_version_string().map { String(cString: $0) } ?? "-" }
}
