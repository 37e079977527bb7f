/// The files that were read, and missing files that were searched for. Each file has the version from before it was
/// first opened.
package final class FileSources {
    package private(set) var versions: [String: FileVersion] = [:]

    /// Records the version of a file. Call this function before you open the file, so that later changes are
    /// detected.
    package func note(_ path: String) {
        if versions[path] == nil { versions[path] = FileVersion(of: path) }
    }
}
