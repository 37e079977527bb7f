/// A listener that accepts connections until it is closed.
open class ByteListener {
    /// The listening address, with the actual port if port 0 was requested.
    public final let endpoint: Endpoint

    public init(endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    /// Stops accepting. Accepted connections stay open.
    open func close() {}
}
