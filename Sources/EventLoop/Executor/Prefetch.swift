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
        let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        martlet_prefetch(address)
        martlet_prefetch(address + lineBytes)
    }
}
