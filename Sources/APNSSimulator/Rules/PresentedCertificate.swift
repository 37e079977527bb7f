import APNSProtocol

/// The certificate that a connection's client has shown.
final class PresentedCertificate {
    let certificate: PushCertificate
    /// Of pushes that name none; nil when the certificate has several or none.
    let defaultTopic: UnsafeRawBufferPointer?
    private let storage: UnsafeMutableRawBufferPointer

    init(_ certificate: PushCertificate) {
        self.certificate = certificate
        let topic = certificate.topics.first ?? ""
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: topic.utf8.count, alignment: 1)
        storage.copyBytes(from: topic.utf8)
        defaultTopic = certificate.topics.count == 1 ? UnsafeRawBufferPointer(storage) : nil
    }

    deinit { storage.deallocate() }
}
