import Glibc

/// Properties that change with the content of a file. For a missing or inaccessible file, all numbers are 0.
package struct FileVersion: Equatable {
    private var inode: UInt = 0
    /// The path with symbolic links resolved. If a link changes to another hard link of the same file, only this path
    /// changes.
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
