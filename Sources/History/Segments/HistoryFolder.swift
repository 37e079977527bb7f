import Glibc

/// The names of the files of a history. The folder must exist and belong to the console alone.
package struct HistoryFolder: Sendable, Hashable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var indexPath: String { path + "/index.sqlite" }

    func segmentPath(_ number: Int) -> String { path + "/segment-\(number).sqlite" }

    /// The numbers of the segments in ascending order.
    package var segmentNumbers: [Int] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix("segment-"), name.hasSuffix(".sqlite") else { continue }
            let digits = name.dropFirst("segment-".count).dropLast(".sqlite".count)
            if let number = Int(digits), number > 0, "\(number)" == digits { numbers.append(number) }
        }
        return numbers.sorted()
    }

    /// The size of a segment and its WAL.
    func bytes(ofSegment number: Int) -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(segmentPath(number) + suffix, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    /// Deletes a closed segment. Readers that have it open can still read it.
    func deleteSegment(_ number: Int) {
        // The database comes first, because the other files have no meaning without it.
        for suffix in ["", "-wal", "-shm", ".lock"] { unlink(segmentPath(number) + suffix) }
    }
}
