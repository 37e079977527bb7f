import CSwiftJobs

/// The prefetching of memory that is used soon but has left the caches, so that the memory access overlaps with other
/// work (decision 26). An invalid address does no harm.
public enum Prefetch {
    private static let lineBytes = 64

    public static func memory(at address: UnsafeRawPointer) {
        martlet_prefetch(address)
    }

    /// Prefetches the beginning of an object.
    public static func object(_ object: AnyObject) {
        let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        martlet_prefetch(address)
        martlet_prefetch(address + lineBytes)
    }
}
