import Glibc

/// What tells that a file is not what it was; nothing when there is none.
package struct FileVersion: Equatable {
    private var inode: UInt = 0
    /// Where links lead: releases that are hard links of each other share their files.
    private var place: String?
    private var bytes = 0
    private var modified = 0
    private var modifiedNanoseconds = 0
    /// Of permissions too, and of content whose time was set back.
    private var changed = 0
    private var changedNanoseconds = 0

    /// Links are followed: a mounted Kubernetes ConfigMap changes by a link that then leads elsewhere.
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
