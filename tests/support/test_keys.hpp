#pragma once

// The published keys of RFC 7515, appendices A.2 (RSA) and A.3 (P-256), as PKCS#8.

namespace notify::test {

inline constexpr const char* kRsaKey = R"(-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
03k2+ZQwVK0JKSHuLFkuQ3U=
-----END PRIVATE KEY-----
)";

inline constexpr const char* kEcKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
-----END PRIVATE KEY-----
)";
// Its public half: x and y.
inline constexpr const char* kEcX = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
inline constexpr const char* kEcY = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";

// The public half of kRsaKey, as SubjectPublicKeyInfo.
inline constexpr const char* kRsaPublicKey = R"(-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj
NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz
P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo
9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB
EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX
FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp
oQIDAQAB
-----END PUBLIC KEY-----
)";

// A certificate for kRsaKey, signed by itself.
inline constexpr const char* kRsaCertificate = R"(-----BEGIN CERTIFICATE-----
MIIDCTCCAfGgAwIBAgIUORfGPiToTngtdL/xOGR2hnL6xkUwDQYJKoZIhvcNAQEL
BQAwEzERMA8GA1UEAwwIc25zLnRlc3QwIBcNMjYxMTMwMDg1OTAwWhgPMjEyNjEx
MDYwODU5MDBaMBMxETAPBgNVBAMMCHNucy50ZXN0MIIBIjANBgkqhkiG9w0BAQEF
AAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbj
i9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZ
S+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpa
SHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQ
Y4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9ia
GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABo1MwUTAdBgNVHQ4E
FgQUMxiIj6e/g5DN3tNdVInpUWMZ2tkwHwYDVR0jBBgwFoAUMxiIj6e/g5DN3tNd
VInpUWMZ2tkwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAa8az
z+jx9ij+N20PGUw/MXYMEruu2dNgD8DdGPVt9tguOjOcZnFbczvQdTJFAojG3GIs
c1yV+NtaKqm27vzS2mBZ6V49BRQkPu0GJq4sImcp2Mtc7O5y9yZTukBDf+yl6nWr
mcs5nFKTQkS2rLxo+YK0gd1E/2eY3OzmDajPqG32oQz5oZG5QB7H3JYniCiCbiIz
fzdZ17akM2NItcLK3Bzr80uu3fekDZ57BYdEMbBXay8uknSyg9aNCBUFLhGf0Z/8
DwkXypCSrmzzAxkbjoOUKKO7QqljL+pUee3ncIGZ+iUR0/H11X1gmPt5O2Zq9X4l
j9wIBRla+HsvG+5jXg==
-----END CERTIFICATE-----
)";

// An envelope of SNS, signed with kRsaKey by openssl dgst -sha1.
inline constexpr const char* kSnsVersion1 =
    R"({"Type": "Notification", "MessageId": "sns-1", "TopicArn": "arn:aws:sns:ap-northeast-2:123456789012:)"
    R"(mail", "Subject": "Amazon SES", "Message": "{\"eventType\":\"Delivery\",\"mail\":{\"messageId\":\"SE)"
    R"(S-1\"}}", "Timestamp": "2026-11-29T13:26:09.000Z", "SignatureVersion": "1", "Signature": "UZuLyf8HDO)"
    R"(2327c+xBYRWetJWsfZIMfXAqQctls8j+8zJd0XMuk76jjdPplbQWq63E2CXX8Ys4N74i8mQxeYFVsPT6/lAPdH8Y6IBL69IauivT)"
    R"(VwibS4BAzkHqXZveCAGL+Lf+z98gcLxtD7C5k7LsD/odVvfO5sltivvJYZCWrZpnDgKLo2eO9pG0x+X4bOlwKXqw7mKaVuD4srLW)"
    R"(+iXqtt9vrDtK+lJyEAFoURMY4ZhS0Eju1V+cisfcu11t+7NKCZQQamk7J0cyoYHQxYq+T0XONCHcnVHLcCgNWS+cx/Xgf9Zn/mmd)"
    R"(E0ulQbe45pURlP9GgFeQUsonsrQnsGzA=="})";

// On another curve than ours.
inline constexpr const char* kP384Key = R"(-----BEGIN PRIVATE KEY-----
MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDB4bEJPKt9joTs191Y1
zqxiZ3DnMqXAabdoxmN6GG2AkYVhHITkyeUWujhRlw3EnjWhZANiAATufIPlgrOA
JUZzbZ47tln/jAhg1961zjtEp+jUVP30dyC60z/Reo0oLKiq7rzW3y3fPbmLHxxp
Odq1nRuDQxYWgE3G907FWaF4SjjJMTLg8I0MwpniHTxRIdhg/aF+doM=
-----END PRIVATE KEY-----
)";

}  // namespace notify::test
