import CMicroHTTPD
import Glibc

extension AdminServer {
    /// Starts libmicrohttpd. Returns nil if memory or descriptors are exhausted. The callbacks run on the loop, within
    /// `MHD_run`, `MHD_add_connection` and `MHD_stop_daemon`. The last callback precedes the return of
    /// `MHD_stop_daemon`.
    func startDaemon() -> OpaquePointer? {
        martlet_start_daemon(
            UInt32(clamping: configuration.connectionsMax + Self.closingMax), configuration.connectionBytesMax,
            received, began, completed, connectionChanged, keepEscapes, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate static func of(_ closure: UnsafeMutableRawPointer) -> AdminServer {
        Unmanaged.fromOpaque(closure).takeUnretainedValue()
    }
}

private func began(
    _ closure: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let closure, let target, let connection else { return nil }
    let exchange = AdminExchange(
        server: .of(closure), connection: connection,
        target: UnsafeRawBufferPointer(start: target, count: strlen(target)))
    return Unmanaged.passRetained(exchange).toOpaque()
}

private func received(
    _ closure: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, bytes: UnsafePointer<CChar>?,
    byteCount: UnsafeMutablePointer<Int>?, context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let exchange = context?.pointee, let method, let byteCount else { return .NO }
    let chunk = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : byteCount.pointee)
    byteCount.pointee = 0
    return Unmanaged<AdminExchange>.fromOpaque(exchange).takeUnretainedValue().receive(method: method, chunk)
}

private func completed(
    _ closure: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, cause: MHD_RequestTerminationCode
) {
    guard let exchange = context?.pointee else { return }
    context?.pointee = nil
    Unmanaged<AdminExchange>.fromOpaque(exchange).takeRetainedValue().complete()
}

private func connectionChanged(
    _ closure: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
    guard let closure, let connection, let context else { return }
    let server = AdminServer.of(closure)
    if change == .CONNECTION_NOTIFY_STARTED {
        let client = AdminClient(server: server, descriptor: martlet_connection_descriptor(connection))
        context.pointee = Unmanaged.passRetained(client).toOpaque()
        client.begin()
        server.clients[ObjectIdentifier(client)] = client
        server.connectionCount += 1
    } else if let opaque = context.pointee {
        context.pointee = nil
        let client = Unmanaged<AdminClient>.fromOpaque(opaque).takeRetainedValue()
        client.end()
        server.clients[ObjectIdentifier(client)] = nil
        server.connectionCount -= 1
    }
}

/// Keeps percent-escapes, because `RequestTarget` decodes the parts of a complete target.
private func keepEscapes(
    _ closure: UnsafeMutableRawPointer?, connection: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    text.map { strlen($0) } ?? 0
}
