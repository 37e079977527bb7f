import Glibc

/// Properties that change with the content of a file; all empty if the file does not exist.
package struct FileVersion: Equatable {
    private var inode: UInt = 0
    /// Path without links. Releases whose files are hard links of each other differ only in this path.
    private var place: String?
    private var bytes = 0
    private var modified = 0
    private var modifiedNanoseconds = 0
    /// Time of the last status change. This time also shows changed permissions, and content whose modification time
    /// was reset.
    private var changed = 0
    private var changedNanoseconds = 0

    /// Reads the properties of the file. Follows links, because a mounted Kubernetes ConfigMap changes by replacing a
    /// link.
    init(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        inode = status.st_ino
        if let resolved = realpath(path, nil) {
            place = String(cString: resolved)
            free(resolved)
        }
        bytes = status.st_size
        (modified, modifiedNanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        (changed, changedNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}
