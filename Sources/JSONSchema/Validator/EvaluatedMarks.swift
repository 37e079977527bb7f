/// A log of the evaluated members or elements. The marks of a frame follow those of the frames below it. The marks of
/// a failed frame, or of a frame for another value, can therefore be removed from the end.
struct EvaluatedMarks {
    private var log: [UInt32] = []
    /// For each node, the last `query` for which the node was marked.
    private var stamps: [UInt32] = []
    private var query: UInt32 = 0

    private static let all = UInt32.max
    /// The flag of an entry that contains the number of leading elements. Entries of nodes are smaller.
    private static let prefix: UInt32 = 1 << 31

    var count: Int { log.count }

    mutating func begin() { log.removeAll(keepingCapacity: true) }

    mutating func remove(from first: Int) { log.removeLast(log.count - first) }

    /// Marks an element, or the key of a member.
    mutating func mark(_ node: Int) { log.append(UInt32(truncatingIfNeeded: node)) }

    mutating func mark(first count: Int) {
        log.append(Self.prefix | UInt32(truncatingIfNeeded: min(count, Int(Self.prefix) - 2)))
    }

    mutating func markAll() { log.append(Self.all) }

    /// The evaluated members or elements of a value.
    enum Answer {
        case all
        /// The first `prefix` elements, and the nodes for which `contains` is true with this `query`.
        case some(prefix: Int, query: UInt32)
    }

    /// Returns the members and elements that a frame has marked as evaluated.
    ///
    /// - Parameters:
    ///   - first: the index of the frame's first mark.
    ///   - nodeCount: the number of nodes of the whole text.
    mutating func ask(from first: Int, nodeCount: Int) -> Answer {
        guard !log[first...].contains(Self.all) else { return .all }
        if stamps.count < nodeCount { stamps += Array(repeating: 0, count: nodeCount - stamps.count) }
        if query == .max {
            for index in stamps.indices { stamps[index] = 0 }
            query = 0
        }
        query += 1
        var count: UInt32 = 0
        for mark in log[first...] {
            if mark & Self.prefix != 0 {
                count = max(count, mark & ~Self.prefix)
            } else if Int(mark) < nodeCount {
                stamps[Int(mark)] = query
            }
        }
        return .some(prefix: Int(count), query: query)
    }

    func contains(_ node: Int, _ query: UInt32) -> Bool { stamps[node] == query }
}
