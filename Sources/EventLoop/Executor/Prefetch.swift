import CSwiftJobs

/// Asks the processor for memory that is used soon and has not been for a thousand messages, so that its way here and the
/// work until then go on together (decision 26). Asking does no harm with any address.
public enum Prefetch {
    private static let lineBytes = 64

    public static func memory(at address: UnsafeRawPointer) {
        martlet_prefetch(address)
    }

    /// The beginning of an object.
    public static func object(_ object: AnyObject) {
        twoLines(at: Unmanaged.passUnretained(object).toOpaque())
    }

    fileprivate static func twoLines(at address: UnsafeRawPointer) {
        martlet_prefetch(address)
        martlet_prefetch(address + lineBytes)
    }
}

/// Resuming a task follows two pointers: to where it goes on, and from there to where its result goes. They are fetched one
/// after the other, some other resumptions before its own.
extension UnsafeContinuation {
    /// Where the two are in the runtime's records of 64-bit platforms, as in the code that is compiled for `resume`. Were they
    /// elsewhere, what is fetched would be of no use, and no more than that.
    private static var contextOffset: Int { 0x40 }
    private static var resultOffset: Int { 0x28 }

    private var task: UnsafeRawPointer { unsafeBitCast(self, to: UnsafeRawPointer.self) }

    /// Of a task that waits: the place that says where its result goes.
    var resultPlace: UnsafeRawPointer? {
        task.load(fromByteOffset: Self.contextOffset, as: UnsafeRawPointer?.self).map { $0 + Self.resultOffset }
    }

    /// First.
    public func prefetchTask() {
        Prefetch.twoLines(at: task)
    }

    /// Second. Reads the task's record: only of a task that is certain to wait still, whose memory may be gone otherwise.
    public func prefetchContext() {
        if let resultPlace { Prefetch.twoLines(at: resultPlace) }
    }
}
