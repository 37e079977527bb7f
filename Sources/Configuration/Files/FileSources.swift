/// The files that something was read from, or that were looked for in vain: each as it was just before it was opened.
package final class FileSources {
    package private(set) var versions: [String: FileVersion] = [:]

    /// To be called before the file is opened: a change after that is one from the version noted.
    package func note(_ path: String) {
        if versions[path] == nil { versions[path] = FileVersion(of: path) }
    }
}
