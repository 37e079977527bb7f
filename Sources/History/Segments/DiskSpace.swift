import Glibc

/// The space of the file system that contains the history.
package struct DiskSpace: Sendable, Hashable {
    package var freeBytes: Int64
    package var totalBytes: Int64

    package init(freeBytes: Int64, totalBytes: Int64) {
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
    }

    /// Reads the total space, and the free space for users other than root. Returns nil if the system reports no valid
    /// sizes.
    package init?(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let unit = Int64(clamping: status.f_frsize)
        let (free, freeOverflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: unit)
        let (total, totalOverflow) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: unit)
        guard !freeOverflow, !totalOverflow else { return nil }
        self.init(freeBytes: free, totalBytes: total)
    }

    /// The number of bytes that must become free.
    func missingBytes(_ limits: HistoryLimits) -> Int64 {
        max(0, totalBytes / 100 * limits.freePercentMin - freeBytes)
    }
}
